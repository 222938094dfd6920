// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names that headers of systems and of old libraries define as macros, here so that each use of one is an error. A
// program may include such a header before ours.

// sys/sysmacros.h, sys/param.h
#define major @
#define minor @
#define makedev @
#define howmany @
#define roundup @
#define powerof2 @
#define NBBY @
#define MIN @
#define MAX @

// windows.h, rpcndr.h
#define small @
#define near @
#define far @
#define min @
#define max @
#define interface @
#define hyper @
#define pascal @
#define cdecl @
#define IN @
#define OUT @
#define OPTIONAL @
#define ERROR @
#define DELETE @
#define ABSOLUTE @
#define RELATIVE @
#define TRANSPARENT @
#define OPAQUE @
#define DIFFERENCE @
#define PLANES @
#define STRICT @
#define CONST @
#define VOID @
#define TRUE @
#define FALSE @
#define rad1 @
#define grp1 @

// complex.h
#define I @
#define complex @
#define imaginary @

// termios.h, math.h
#define B0 @
#define B50 @
#define ECHO @
#define OVERFLOW @
#define UNDERFLOW @
#define DOMAIN @
#define SING @
#define PLOSS @
#define TLOSS @
#define HUGE @

// Compilers that allow for extensions
#undef unix
#undef linux
#undef i386
#define unix @
#define linux @
#define vax @
#define sun @
#define mips @
#define i386 @

// X.h, Xlib.h
#define None @
#define Bool @
#define Status @
#define Success @
#define Always @
#define True @
#define False @
#define Complex @
#define Convex @
#define Above @
#define Below @

// Qt
#define signals @
#define slots @
#define emit @
#define foreach @

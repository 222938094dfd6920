# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""DLPack in Python: the layouts that the extension module expects, declared a second time. By its C exchange API tests read
tensors of PyTorch, and have a stand-in for PyTorch offer such a table; by its capsules they offer arrays of no library."""

import ctypes

NAME = b"dlpack_exchange_api"
UNUSED = ctypes.c_void_p


class Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Read = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Array))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Managed(ctypes.Structure):
    _fields_ = [("array", Array), ("context", UNUSED), ("release", UNUSED)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", UNUSED),
        ("release", UNUSED),
        ("flags", ctypes.c_uint64),
        ("array", Array),
    ]


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("make_array", UNUSED),
        ("export_array", UNUSED),
        ("import_array", UNUSED),
        ("read", Read),
        ("current_stream", CurrentStream),
    ]


def table_of(type_):
    """The table that a type offers."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Table.from_address(pointer_of(type_.__dlpack_c_exchange_api__, NAME))


def read(x):
    """(address, shape, strides in elements, bytes of an element, device's type) as the type's table has them.

    :raises RuntimeError: where the table has no answer
    """
    array = Array()
    assert table_of(type(x)).read(x, ctypes.byref(array)) == 0
    shape, strides = tuple(array.shape[: array.rank]), tuple(array.strides[: array.rank])
    item_bytes = (array.bits * array.lanes + 7) // 8
    return (array.data or 0) + array.byte_offset, shape, strides, item_bytes, array.device_type


def offer(type_, functions, major=1, older=None):
    """Has a type offer a table, for good."""
    table = Table(major, 3, older and ctypes.addressof(older), None, None, None, *functions)
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    type_.__dlpack_c_exchange_api__ = make_capsule(ctypes.addressof(table), NAME, None)
    offer.kept = getattr(offer, "kept", []) + [table, functions]
    return table


Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


def capsule_of(array, flags=0, major=None, released=lambda: None):
    """A capsule of an array, as DLPack has them before version 1, or as it has them in a version. It calls `released` when it
    is dropped."""
    content = Managed(array, None, None) if major is None else Versioned(major, 0, None, None, flags, array)
    name = b"dltensor" if major is None else b"dltensor_versioned"
    destructor = Destructor(lambda _: released())
    capsule_of.kept = getattr(capsule_of, "kept", []) + [content, name, destructor]
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, Destructor]
    return make_capsule(ctypes.addressof(content), name, destructor)


class Foreign:
    """An array of no library that is known, in memory that is not there, by DLPack alone; `log` is told what becomes of it."""

    def __init__(self, shape, type_=(2, 32, 1), address=1 << 30, strides=None, device_type=2, log=None, **versioned):
        self.log = [] if log is None else log
        self.extents = (ctypes.c_int64 * 8)(*shape)
        self.strides = strides and (ctypes.c_int64 * 8)(*strides)
        steps = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64)) if strides else None
        self.array = Array(address - 64, device_type, 0, len(shape), *type_, self.extents, steps, 64)
        self.versioned = {"major": 1, **versioned}

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, max_version=None):
        self.log.append("imported")
        versioned = self.versioned if max_version is not None else {}
        return capsule_of(self.array, released=lambda: self.log.append("given back"), **versioned)


class OlderForeign(Foreign):
    """The same, of a library that knows of no versions."""

    def __dlpack__(self):
        return super().__dlpack__()


def offer_stand_in(type_):
    """A table that reads the stand-in's tensors of GPU 0; what it was asked for is returned."""
    asked = []

    def read_stand_in(x, result):
        asked.append(x)
        if x.transformed or x.quantized:
            return -1
        array, x.kept = result.contents, ((ctypes.c_int64 * 64)(*x.shape), (ctypes.c_int64 * 64)(*x.stride()))
        array.data, array.byte_offset = x.address - 64, 64
        array.device_type, array.device = (2, 0) if x.is_cuda else (1, 0)
        array.rank, array.shape, array.strides = len(x.shape), *x.kept
        array.code, array.bits, array.lanes = 17, 4, 8  # 8 parts of half a byte each are an element
        return 0

    def current_stream(device_type, device, result):
        asked.append("stream")
        assert (device_type, device) == (2, 0)
        result[0] = 0
        return 0

    offer(type_, (Read(read_stand_in), CurrentStream(current_stream)))
    return asked

# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash

# Sourced by run.sh, after cmake/setup.sh: gets a CUDA toolkit of a given version into a folder of the build, from
# packages, beside whatever the machine has. What was got once is kept. A toolkit is complete enough to compile, link
# and run a program: compiler, runtime, CCCL and NVRTC.

find_pip() {
  python3 -m pip --version >/dev/null 2>&1 || {
    may_install && apt_install python3-pip
  }
}

# get_python_packages FOLDER PACKAGE...: the toolkit's parts as Python's packages have them, merged into one tree.
get_python_packages() {
  local folder=$1 part
  shift
  find_pip && python3 -m pip install --quiet --no-compile --root-user-action ignore \
    --target "$folder/python" "$@" || return
  for part in "$folder"/python/nvidia/*/; do # one folder per package up to CUDA 12, one for all since 13
    cp -al "$part." "$folder/"
  done
  rm -rf "$folder/python"
}

# The compiler's driver and front end, which Python's packages of CUDA 12.4 lack, from Debian 13's package of the same
# version. Apt works in a folder of its own; nothing is installed.
get_debian_compiler() {
  local folder=$1 apt=$1/apt mirror
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$') || return
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,toolkit}
  echo "deb $mirror trixie non-free" >"$apt/sources.list"
  local options=(-q -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null/
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update >&2 &&
    (cd "$apt" && apt-get "${options[@]}" download nvidia-cuda-toolkit=12.4.131* >&2) &&
    dpkg -x "$apt"/nvidia-cuda-toolkit_*.deb "$apt/toolkit" || return

  local from=$apt/toolkit/usr
  rm -f "$from/bin/nvcc" "$from/lib/nvidia-cuda-toolkit/bin/"{gcc,g++,nvcc.profile} # Debian's own wrappers
  mkdir -p "$folder/nvvm/bin"
  mv "$from"/lib/nvidia-cuda-toolkit/bin/cicc "$folder/nvvm/bin/"
  cp -alf "$from"/{bin,lib/nvidia-cuda-toolkit/bin}/. "$folder/bin/"
  cat >"$folder/bin/nvcc.profile" <<'PROFILE'
TOP                = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH   += $(TOP)/lib:
PATH              += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES          += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES         =+ $(_SPACE_) "-L$(TOP)/lib"
PROFILE
  rm -rf "$apt"
}

# Names under which linkers look for libraries, which Python's packages leave out. CUDA 12.4's have the runtime as a
# shared library alone; it stands for the static one, too. Nothing here needs the device runtime.
name_libraries() {
  local lib=$1/lib library
  ln -sfn lib "$1/lib64"
  for library in cudart nvrtc; do
    ln -sf "$(cd "$lib" && ls -d "lib$library.so."*)" "$lib/lib$library.so"
  done
  [ -e "$lib/libcudart_static.a" ] || echo 'INPUT(-lcudart)' >"$lib/libcudart_static.a"
  [ -e "$lib/libcudadevrt.a" ] || "$1/bin/nvcc" -lib -x cu /dev/null -o "$lib/libcudadevrt.a"
}

# get_cuda VERSION FOLDER
get_cuda() {
  local version=$1 folder=$2 parts='nvcc,cudart,cccl,nvrtc'
  [ -e "$folder/complete" ] && return
  say "getting CUDA $version into $folder"
  rm -rf "$folder"
  mkdir -p "$folder/bin"
  get_python_packages "$folder" "cuda-toolkit[$parts]==$version.*" || return
  if [ "$version" = 12.4 ]; then
    get_debian_compiler "$folder" || return
  fi
  name_libraries "$folder" && "$folder/bin/nvcc" --version && touch "$folder/complete"
}

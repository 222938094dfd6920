// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdio>
#include <string>

std::string answer_of_first();
std::string answer_of_second();

int main() {
  const std::string first = answer_of_first();
  const std::string second = answer_of_second();
  std::printf("%s\n\n%s\n", first.c_str(), second.c_str());
  return first == second ? 1 : 0;
}

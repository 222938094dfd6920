// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace bench {

// The cases of fused.cu. To be called once the device is set up.
void register_fused_cases();

}  // namespace bench

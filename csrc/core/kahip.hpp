// KaHIP's kaffpa, run in a process of its own.
#pragma once

namespace meshpart {}  // namespace meshpart

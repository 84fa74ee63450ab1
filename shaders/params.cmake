# Writes OUT, a copy of lumeq.hook (IN) with parameters instead of settings, for libplacebo 5.229 or newer.
file(READ "${IN}" text)
set(setting "const float ([a-z]+) = ([-0-9.]+)@ // ([-0-9.]+)[.][.]([-0-9.]+): ([^\n]*)\n")
string(REPLACE ";" "@" text "${text}") # otherwise CMake would split the text at semicolons
string(REGEX MATCHALL "${setting}" lines "${text}")
string(REGEX REPLACE "\n// The settings[^\n]*\n(const float [^\n]*\n)+" "" text "${text}")
set(blocks "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "${setting}" "//!PARAM \\1\n//!DESC \\5\n//!TYPE float\n//!MINIMUM \\3\n//!MAXIMUM \\4\n\\2\n\n"
           block "${line}")
    string(APPEND blocks "${block}")
endforeach()
string(REPLACE "//!BUFFER" "${blocks}//!BUFFER" text "${text}")
string(REPLACE "lumeq.hook" "lumeq-params.hook" text "${text}")
string(REPLACE "@" ";" text "${text}")
file(WRITE "${OUT}" "${text}")

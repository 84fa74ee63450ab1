# cmake -DOUT=FILE.c -DSHADERS="a;b" -P embed.cmake: writes the shaders as a table of names and texts.
# With -DTEXT=FILE instead of SHADERS, writes FILE as a char array named after it.
set(arrays "")
set(entries "")
foreach(path ${SHADERS} ${TEXT})
    get_filename_component(name "${path}" NAME)
    string(MAKE_C_IDENTIFIER "${name}" symbol)
    file(READ "${path}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n    "
           bytes "${bytes}")
    string(APPEND arrays "const char ${symbol}[] = {\n    ${bytes}0};\n\n")
    string(APPEND entries "    {\"${name}\", ${symbol}},\n")
endforeach()
if(TEXT)
    file(WRITE "${OUT}" "${arrays}")
    return()
endif()
file(WRITE "${OUT}" "#include \"player/view/view_shaders.h\"\n\n${arrays}"
                    "const ViewShader view_shaders[] = {\n${entries}    {0}};\n")

# Adds the files that Debian requires, compresses manual pages, and moves zsh completions to Debian's
# folder. cpack runs this script before it packs.
execute_process(COMMAND date -u -R -d "${CPACK_LUMEQ_DATE}" OUTPUT_VARIABLE date
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(compress file)
    execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
    set(doc "${root}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    file(READ "${CPACK_LUMEQ_SOURCE}/LICENSE" license)
    file(WRITE "${doc}/copyright" "${license}")
    file(COPY_FILE "${CPACK_LUMEQ_SOURCE}/include/lumeq/CHANGELOG.md" "${doc}/changelog")
    file(WRITE "${doc}/changelog.Debian"
"lumeq (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; see changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
    compress("${doc}/changelog")
    compress("${doc}/changelog.Debian")
    file(GLOB pages "${root}/share/man/man*/*.[1-9]")
    foreach(page IN LISTS pages)
        compress("${page}")
    endforeach()
    if(EXISTS "${root}/share/zsh/site-functions")
        file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
    endif()
    # Set permissions that do not depend on the umask.
    execute_process(COMMAND chmod -R u=rwX,go=rX "${root}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()

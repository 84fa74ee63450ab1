# What cpack reads first: some builds are not to become packages.
if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_LUMEQ_REFUSED)
    message(FATAL_ERROR "lumeq: no packages: ${CPACK_LUMEQ_REFUSED}")
endif()
# Each package has a summary of its own, the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

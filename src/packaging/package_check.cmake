# cpack reads this file first. It refuses builds that must not be packaged.
if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_LUMEQ_REFUSED)
    message(FATAL_ERROR "lumeq: no packages: ${CPACK_LUMEQ_REFUSED}")
endif()
# The summary of each package is the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

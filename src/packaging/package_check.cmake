# cpack reads this file first. It refuses builds that must not be packaged.
if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_LUMEQ_REFUSED)
    message(FATAL_ERROR "lumeq: no packages: ${CPACK_LUMEQ_REFUSED}")
endif()
# Then cpack takes each package's summary from the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

/* The cameras of this machine and what they offer, on standard output. */
#ifndef LUMEQ_APP_CAMERA_LIST_H
#define LUMEQ_APP_CAMERA_LIST_H

/* Each a line; answers the exit code, having said what is wrong. Where there is none, it says so
 * and has listed all. */
int camera_list_print(void);

/* The formats of one, "" for the first; as above. */
int camera_list_print_formats(const char *camera);

#endif

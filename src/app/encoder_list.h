/* --vcodec help: video encoders, working ones first. */
#ifndef LUMEQ_APP_ENCODER_LIST_H
#define LUMEQ_APP_ENCODER_LIST_H

/* Tries the hardware encoders and prints all encoders to standard output: hardware encoders that
 * work, those of the CPU, then hardware encoders that do not work, each with the reason. Call
 * before other threads start. */
void encoder_list_print(void);

#endif

/* --doctor: lists what this machine offers and lacks, and how to fix it. */
#ifndef LUMEQ_APP_DOCTOR_H
#define LUMEQ_APP_DOCTOR_H

/* Prints text or one JSON object to standard output and returns the exit code. `colors`: use
 * colours even if standard output is not a terminal. Call before other threads start. */
int doctor_run(int json, int colors);

#endif

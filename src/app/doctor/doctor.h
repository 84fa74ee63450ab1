/* --doctor: what lumeq finds on this machine, what is missing, and what to do about it. */
#ifndef LUMEQ_APP_DOCTOR_H
#define LUMEQ_APP_DOCTOR_H

/* Prints to standard output, text or one object of JSON; answers the exit code. `colors`: not 0:
 * also where that is no terminal. Before other threads are started. */
int doctor_run(int json, int colors);

#endif

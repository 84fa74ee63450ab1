/* Values of the stop flag of a run. Every stage polls it; anything but RUN_ON ends the run. */
#ifndef LUMEQ_RUN_STOP_H
#define LUMEQ_RUN_STOP_H

enum { RUN_ON, RUN_INTERRUPTED, RUN_OVER };

#endif

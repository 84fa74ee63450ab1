/* The probes of --doctor. Each runs in a process of its own. */
#ifndef LUMEQ_APP_DOCTOR_PROBES_H
#define LUMEQ_APP_DOCTOR_PROBES_H

#include "app/doctor/doctor_section.h"

void probe_versions(Section *section);
void probe_processor(Section *section);
void probe_sandbox(Section *section);

void probe_gpu(Section *section);
void probe_nvdec(Section *section);

void probe_encoders(Section *section);
void probe_hardware_encoders(Section *section);

void probe_cameras(Section *section);
void probe_virtual_camera(Section *section);

void probe_display(Section *section);
void probe_sound(Section *section);

#endif

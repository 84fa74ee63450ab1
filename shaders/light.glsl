// Converts the stream's R'G'B' to the R'G'B' of an SDR screen, through linear light.
uniform mat3 gamut;
uniform vec3 tone; // PQ code of the stream's peak; the screen's peak and the knee, divided by that code

// BT.1886 with black at 0
const float SCREEN_GAMMA = 2.4;
const float SCREEN_NITS = 203.0; // as in view.c

// SMPTE ST 2084
const float M1 = 2610.0 / 16384.0;
const float M2 = 2523.0 / 32.0;
const float C1 = 3424.0 / 4096.0;
const float C2 = 2413.0 / 128.0;
const float C3 = 2392.0 / 128.0;

vec3 pq_nits(vec3 code)
{
    vec3 p = pow(code, vec3(1.0 / M2));
    return 10000.0 * pow(max(p - C1, 0.0) / (C2 - C3 * p), vec3(1.0 / M1));
}

float pq_code(float nits)
{
    float y = pow(nits / 10000.0, M1);
    return pow((C1 + C2 * y) / (1.0 + C3 * y), M2);
}

// BT.2100, table 5: the inverse of the OETF, then the OOTF of a screen of 1000 nits.
vec3 hlg_nits(vec3 code)
{
    const float A = 0.17883277, B = 0.28466892, C = 0.55991073;
    vec3 dark = code * code / 3.0, bright = (exp((code - C) / A) + B) / 12.0;
    vec3 scene = mix(dark, bright, greaterThan(code, vec3(0.5)));
    float luminance = dot(scene, vec3(0.2627, 0.6780, 0.0593));
    return 1000.0 * pow(max(luminance, 1e-6), 0.2) * scene;
}

// BT.2390, 5.4.1: the EETF, with black at 0.
float compressed(float code)
{
    float e = min(code / tone.x, 1.0), peak = tone.y, knee = tone.z;
    if (e > knee && knee < 1.0) {
        float t = (e - knee) / (1.0 - knee), t2 = t * t, t3 = t2 * t;
        e = (2.0 * t3 - 3.0 * t2 + 1.0) * knee + (t3 - 2.0 * t2 + t) * (1.0 - knee) +
            (3.0 * t2 - 2.0 * t3) * peak;
    }
    return e * tone.x;
}

// Scales all components by one factor, to keep the hue.
vec3 tone_mapped(vec3 nits)
{
    float brightest = max(max(nits.r, nits.g), max(nits.b, 1e-4));
    float mapped = pq_nits(vec3(compressed(pq_code(brightest)))).r;
    return nits * (mapped / brightest / SCREEN_NITS);
}

vec3 to_screen(vec3 rgb)
{
    rgb = clamp(rgb, 0.0, 1.0);
#if LIGHT == 1
    vec3 linear = pow(rgb, vec3(SCREEN_GAMMA));
#elif LIGHT == 2
    vec3 linear = tone_mapped(pq_nits(rgb));
#else
    vec3 linear = tone_mapped(hlg_nits(rgb));
#endif
    return pow(clamp(gamut * linear, 0.0, 1.0), vec3(1.0 / SCREEN_GAMMA));
}

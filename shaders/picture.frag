// Converts the planes of a frame to R'G'B' of the screen. The program defines
//   PLANES: 1 to 3
//   LIGHT: 0 SDR with the screen's primaries, 1 SDR with other primaries, 2 PQ, 3 HLG
//   LUMA_TAPS, CHROMA_TAPS: samples across and down to average for a pixel of the screen
in vec2 at;
in vec2 chroma_at;
out vec4 colour;

uniform sampler2D plane0;
uniform sampler2D plane1;
uniform sampler2D plane2;
uniform mat3 matrix;
uniform vec3 offset;

uniform mat2 luma_step;   // between averaged samples, across and down the screen
uniform mat2 chroma_step;

// Returns the mean of samples that are spread evenly over the screen's pixel.
vec2 averaged(sampler2D plane, vec2 centre, ivec2 taps, mat2 step)
{
    vec2 first = centre - 0.5 * (step * vec2(taps - 1)), sum = vec2(0.0);
    for (int y = 0; y < taps.y; y++)
        for (int x = 0; x < taps.x; x++)
            sum += texture(plane, first + step * vec2(x, y)).rg;
    return sum / float(taps.x * taps.y);
}

vec3 sampled()
{
    float luma = averaged(plane0, at, LUMA_TAPS, luma_step).r;
#if PLANES == 1
    return vec3(luma, 0.0, 0.0);
#elif PLANES == 2
    return vec3(luma, averaged(plane1, chroma_at, CHROMA_TAPS, chroma_step));
#else
    return vec3(luma, averaged(plane1, chroma_at, CHROMA_TAPS, chroma_step).r,
                averaged(plane2, chroma_at, CHROMA_TAPS, chroma_step).r);
#endif
}

void main()
{
    vec3 rgb = matrix * sampled() + offset;
#if LIGHT
    rgb = to_screen(rgb);
#endif
    colour = vec4(rgb, 1.0);
}

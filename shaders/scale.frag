// Scales a picture along one axis with a Catmull-Rom cubic. A wider cubic
// shrinks the picture without aliasing.
in vec2 at;
out vec4 colour;

uniform sampler2D plane0;
uniform int axis;    // 0 across, 1 down
uniform float ratio; // pixels of the picture per pixel of the screen

float cubic(float x)
{
    x = abs(x);
    if (x < 1.0)
        return (1.5 * x - 2.5) * x * x + 1.0;
    return x < 2.0 ? ((2.5 - 0.5 * x) * x - 4.0) * x + 2.0 : 0.0;
}

void main()
{
    ivec2 size = textureSize(plane0, 0), texel = ivec2(at * vec2(size));
    float position = at[axis] * float(size[axis]) - 0.5, spread = max(ratio, 1.0);
    int last = int(ceil(position + 2.0 * spread));
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int i = int(floor(position - 2.0 * spread)); i <= last; i++) {
        float weight = cubic((float(i) - position) / spread);
        texel[axis] = clamp(i, 0, size[axis] - 1);
        sum += weight * texelFetch(plane0, texel, 0).rgb;
        weights += weight;
    }
    colour = vec4(sum / weights, 1.0);
}

// Draws a transparent layer, which is blended over the picture.
in vec2 at;
out vec4 colour;

uniform sampler2D plane0;
uniform float opacity;

void main()
{
    colour = texture(plane0, at) * vec4(1.0, 1.0, 1.0, opacity);
}

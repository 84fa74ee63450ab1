// Draws a rectangle without a vertex buffer.
uniform vec4 place;         // left, top, width and height, in clip space
uniform mat2 turn;          // rotates coordinates about the centre, from the upright picture to the stored picture
uniform vec2 chroma_scale;  // chroma's texture coordinates are luma's * chroma_scale + chroma_shift
uniform vec2 chroma_shift;

out vec2 at;
out vec2 chroma_at;

void main()
{
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(place.xy + corner * place.zw, 0.0, 1.0);
    at = turn * (corner - 0.5) + 0.5;
    chroma_at = at * chroma_scale + chroma_shift;
}

// Borders of label and mask, drawn on the slice by a shader: a full line and a dashed one.

const IN_LABEL = 1;
const IN_MASK = 2;

// One byte a voxel: whether it is in the label, in the mask, in both.
function outlineBits(count, label, labelNumbers, mask, maskNumbers) {
  const bits = new Uint8Array(count);
  mark(bits, label, labelNumbers, IN_LABEL);
  mark(bits, mask, maskNumbers, IN_MASK);
  return bits;
}

function mark(bits, classes, numbers, bit) {
  if (!classes) return;
  const wanted = new Uint8Array(256).fill(numbers === null ? 1 : 0);
  wanted[0] = 0;
  for (const number of numbers ?? []) wanted[number] = 1;
  for (let i = 0; i < bits.length; i += 1) if (wanted[classes[i]]) bits[i] |= bit;
}

// NiiVue gives the shader the scan and the blended overlays as colours, our bits as its drawing,
// and two opacities, which here are those of the two lines.
function sliceShader(colours, pixelRatio) {
  return `#version 300 es
precision highp int;
precision highp float;
uniform highp sampler3D volume;
uniform highp sampler3D overlay;
uniform highp sampler3D drawing;
uniform float overlays;
uniform float opacity;
uniform float drawOpacity;
uniform float drawRimOpacity;
in vec3 texPos;
out vec4 color;
const float widest = ${(2 * pixelRatio).toFixed(2)};
const float dash = ${(10 * pixelRatio).toFixed(2)};

int bitsAt(vec3 place) {
  if (any(lessThan(place, vec3(0.0))) || any(greaterThan(place, vec3(1.0)))) return 0;
  return int(texture(drawing, place).r * 255.0 + 0.5);
}

void main() {
  color = vec4(texture(volume, texPos).rgb, opacity);
  if (overlays > 0.0) {
    vec4 map = texture(overlay, texPos);
    color.rgb = mix(color.rgb, map.rgb, map.a);
  }
  int here = bitsAt(texPos);
  if (here == 0) return;
  // Lines get thinner where voxels are small on the screen, or they would hide them.
  float voxel = 1.0 / max(length(dFdx(texPos) * vec3(textureSize(drawing, 0))), 1e-6);
  float width = clamp(0.25 * voxel, 0.5 * widest, widest);
  vec3 right = width * dFdx(texPos);
  vec3 up = width * dFdy(texPos);
  int around = bitsAt(texPos + right) & bitsAt(texPos - right) & bitsAt(texPos + up)
    & bitsAt(texPos - up) & bitsAt(texPos + right + up) & bitsAt(texPos + right - up)
    & bitsAt(texPos - right + up) & bitsAt(texPos - right - up);
  int border = here & ~around;
  if ((border & ${IN_LABEL}) != 0)
    color.rgb = mix(color.rgb, ${vector(colours.label)}, drawOpacity);
  bool drawn = fract((gl_FragCoord.x + gl_FragCoord.y) / dash) < 0.5;
  if ((border & ${IN_MASK}) != 0 && drawn)
    color.rgb = mix(color.rgb, ${vector(colours.mask)}, drawRimOpacity);
}`;
}

function vector(colour) {
  const parts = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255).toFixed(4));
  return `vec3(${parts.join(", ")})`;
}

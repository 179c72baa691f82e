// Volumes on their way: gzipped NIfTI files, in a page written as base64.

const HEADER = 352;
const ARRAYS = { uint8: Uint8Array, float32: Float32Array };

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function fromBase64(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The voxels of a file, x fastest; `kind` is a key of ARRAYS.
function voxelsOf(buffer, kind) {
  return new ARRAYS[kind](buffer, HEADER);
}

// Each part is fetched and inflated once, when it is first asked for.
function partReader(partOf) {
  const known = new Map();
  return (name) => {
    if (!known.has(name)) known.set(name, Promise.resolve(partOf(name)).then(inflated));
    return known.get(name);
  };
}

// An ES module of its text: a page that is one file has no address to import it from.
async function importedModule(buffer) {
  const address = URL.createObjectURL(new Blob([buffer], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// A page: volumes are inside of it, or beside it on the local server.

const page = document.getElementById("viewer");
const told = JSON.parse(document.getElementById("description").textContent);

async function partOfPage(name) {
  const inside = document.querySelector(`script[data-part="${name}"]`);
  if (inside) {
    const bytes = fromBase64(inside.textContent);
    inside.remove();
    return bytes;
  }
  const answer = await fetch(`parts/${name}`);
  if (!answer.ok)
    throw new Error(`${name} did not come (${answer.status}); start gradsurge view again`);
  return answer.arrayBuffer();
}

page.classList.add("gs-page");
start(page, told, partOfPage);

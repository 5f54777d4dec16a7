// The page of the service: an example request, its answer, and the same for a shell.
const by = (id) => document.getElementById(id);

function headers() {
  const found = { "content-type": "application/json" };
  if (by("secret").value) found.authorization = `Bearer ${by("secret").value}`;
  return found;
}

async function describe() {
  const answer = await fetch("/openapi.json", { headers: headers() });
  by("token").hidden = answer.status !== 401 && !by("secret").value;
  if (!answer.ok) return;
  const spec = await answer.json();
  by("title").textContent = spec.info.title;
  const example = spec.paths["/predict"].post.requestBody.content["application/json"].schema.example;
  by("body").value = JSON.stringify(example, null, 2);
  const short = JSON.stringify(example);
  const token = spec.security ? " -H 'authorization: Bearer TOKEN'" : "";
  by("shell").textContent =
    `curl ${location.origin}/predict${token} -H 'content-type: application/json' \\\n` +
    `  -d '${short.length < 400 ? short : short.slice(0, 400) + "…"}'`;
}

async function send() {
  by("state").textContent = "…";
  const start = performance.now();
  const answer = await fetch("/predict", { method: "POST", headers: headers(), body: by("body").value });
  const found = await answer.json();
  const took = (performance.now() - start).toFixed(0);
  by("state").textContent = `status ${answer.status} in ${took} ms`;
  by("answer").textContent = JSON.stringify(found, null, 2);
}

by("send").addEventListener("click", send);
by("secret").addEventListener("change", describe);
by("token").addEventListener("submit", (event) => event.preventDefault());
describe();

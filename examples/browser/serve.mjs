// A small static server for the example: files with ETags, and the two headers that let WebAssembly have threads.
// node examples/browser/serve.mjs SITE [MODELS], where MODELS is a folder of models; it is served under /models/.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const types = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".json": "application/json",
};

/** `isolated`: whether pages are cross-origin isolated, which WebAssembly asks for before it gives a page threads. */
export async function serve(site, { models, isolated = true, port = 0 } = {}) {
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag",
    "cache-control": "no-cache",
    "cross-origin-resource-policy": "cross-origin",
    ...(isolated ? { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" } : {}),
  };
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const isModel = path.startsWith(`${sep}models${sep}`) && models !== undefined;
    const file = isModel
      ? join(models, path.slice("/models".length))
      : join(site, path.endsWith(sep) ? `${path}index.html` : path);
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) return response.writeHead(404, headers).end();
    const etag = `"${found.size.toString(16)}-${Math.round(found.mtimeMs).toString(16)}"`;
    if (request.headers["if-none-match"] === etag) return response.writeHead(304, { ...headers, etag }).end();
    const type = types[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { ...headers, etag, "content-type": type, "content-length": found.size });
    if (request.method === "HEAD") return response.end();
    createReadStream(file)
      .on("error", () => response.destroy())
      .pipe(response);
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://localhost:${server.address().port}/`, close: () => closed(server) };
}

function closed(server) {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [site, models] = process.argv.slice(2);
  if (site === undefined) throw new Error("usage: node examples/browser/serve.mjs SITE [MODELS]");
  const { url } = await serve(site, { ...(models === undefined ? {} : { models }), port: 8080 });
  console.log(url);
}

// What a web page that a person has open may ask of a server without keys on the same machine (item 3). Each request must be refused, and a
// stranger's server must not be asked for anything.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { send, tally } from "../client.mjs";

export async function pages(server) {
  let fetched = 0;
  const content = Buffer.from("not a model");
  const digest = createHash("sha256").update(content).digest("hex");
  const stranger = createServer((_request, response) => {
    fetched += 1;
    response.end(content);
  });
  await new Promise((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${stranger.address().port}/model.onnx#sha256:${digest}`;
  const path = `/v2/models/${encodeURIComponent(address)}`;
  const { port } = server;
  const cases = [
    ["cross-site GET", { method: "GET", path, headers: { "sec-fetch-site": "cross-site" } }],
    ["same-site GET", { method: "GET", path: "/v2/models/tiny", headers: { "sec-fetch-site": "same-site" } }],
    ["reference in a GET", { method: "GET", path }],
    ["reference in explain", { method: "GET", path: `/api/explain?model=${encodeURIComponent(address)}` }],
    ["reference in a body", { path: "/api/embed", body: { model: address, input: "a" } }],
    ["reference in a header", { path: "/embed", body: { inputs: "a" }, headers: { "x-inferyard-model": address } }],
    ["foreign Host", { path: "/api/embed", body: { input: "a" }, headers: { host: `evil.example:${port}` } }],
    ["behind nginx", { path: "/api/models/tiny/load", body: {}, headers: { host: `127.0.0.1:${port}`, via: "1.1 nginx" } }],
    ["X-Real-IP", { path: "/api/models/tiny/load", body: {}, headers: { host: `127.0.0.1:${port}`, "x-real-ip": "10.0.0.7" } }],
    [
      "text/plain body",
      {
        path: "/api/embed",
        body: JSON.stringify({ model: address, input: "a" }),
        headers: { "content-type": "text/plain", origin: "https://evil.example" },
      },
    ],
  ];
  const answers = [];
  for (const [name, asked] of cases) answers.push({ name, ...(await send(server, asked)) });
  stranger.close();
  const taken = answers.filter(({ status }) => status < 400 || status >= 500).map(({ name, status }) => `${name}: ${status}`);
  const said = [tally(answers), `${fetched} fetches of a stranger's file`, ...taken].join("; ");
  return { said, wrong: taken.length + fetched };
}

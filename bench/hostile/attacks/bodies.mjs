// Bodies whose shape costs more than their size (issue items 1 and 7).
import { send, tally } from "../client.mjs";

const million = 1_000_000;
const listOf = (element, bytes) =>
  Array(Math.floor(bytes / (element.length + 1)))
    .fill(element)
    .join(",");

const cases = (bytes) => [
  ["/v1/embeddings", `{"model":"builtin","input":[${listOf("{}", bytes)}]}`],
  ["/v1/embeddings", `{"model":"builtin","input":[${listOf("7", bytes)}]}`],
  ["/v1/embeddings", `{"model":"builtin","input":[[${listOf('"a"', bytes)}]]}`],
  ["/v2/rerank", `{"model":"builtin","query":"q","documents":[${listOf("{}", bytes)}]}`],
  ["/predict", `{"inputs":[${listOf("[[]]", bytes)}]}`],
  ["/embed", `{"inputs":[${listOf("null", bytes)}]}`],
  ["/api/embed", `{"model":"builtin",${Array.from({ length: Math.floor(bytes / 12) }, (_, at) => `"${at}":0`).join(",")}}`],
  [
    "/v2/models/builtin/infer",
    `{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[${"[".repeat(50)}0${"]".repeat(50)},${listOf("1", bytes)}]}]}`,
  ],
  [
    "/v2/models/builtin/infer",
    `{"inputs":[${Array.from({ length: Math.floor(bytes / 60) }, (_, at) => `{"name":"${at}","shape":[1],"datatype":"FP32","data":[1]}`).join(",")}]}`,
  ],
  ["/v2/models/builtin/infer", `{"inputs":[],"outputs":[${listOf('{"name":"embedding"}', bytes)}]}`],
  ["/v1/embeddings", `{"model":"${"m".repeat(bytes)}","input":"a"}`],
  ["/api/explain", `{"model":"builtin","prefer":"${"x,".repeat(bytes / 2)}"}`],
];

export const bodies = [0.9, 3.9, 9].map((megabytes) => ({
  name: `JSON bodies of ${megabytes} MB`,
  items: "1, 7",
  async run({ server, keys }) {
    const answers = [];
    for (const [path, body] of cases(megabytes * million)) answers.push(await send(server, { path, body, key: keys.attacker }));
    const parallel = cases(megabytes * million)
      .slice(0, 4)
      .flatMap((one) => [one, one, one]);
    answers.push(...(await Promise.all(parallel.map(([path, body]) => send(server, { path, body, key: keys.attacker })))));
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1 || status >= 500).length };
  },
}));

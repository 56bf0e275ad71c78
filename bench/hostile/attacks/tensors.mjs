// Raw tensors that make a run take far more memory than they have bytes (item 6).
import { send, tally } from "../client.mjs";

const int64 = (name, shape) => ({
  name,
  datatype: "INT64",
  shape,
  parameters: { binary_data_size: 8 * shape.reduce((a, b) => a * b, 1) },
});

function binary(shape, fill) {
  const inputs = ["input_ids", "attention_mask", "token_type_ids"].map((name) => int64(name, shape));
  const header = Buffer.from(JSON.stringify({ inputs }));
  const count = shape.reduce((a, b) => a * b, 1);
  const data = [fill, 1n, 0n].map((value) => Buffer.from(new BigInt64Array(count).fill(value).buffer));
  return {
    body: Buffer.concat([header, ...data]),
    headers: { "content-type": "application/octet-stream", "inference-header-content-length": header.length },
  };
}

export const tensors = {
  name: "wide tensors and wild token ids",
  items: "6",
  async run({ server, keys }) {
    const path = "/v2/models/minilm/infer";
    const asked = [
      binary([128, 512], 1037n),
      binary([512, 512], 1037n),
      binary([1, 100_000], 1037n),
      binary([1, 8], 2n ** 26n - 1n),
    ].map((one) => ({ path, ...one }));
    const ids = { path: "/v1/embeddings", body: { model: "minilm", input: [[2 ** 26 - 1]] } };
    const decode = { path: "/decode", body: { ids: [2 ** 26 - 1, 2 ** 31 - 1] } };
    const answers = [];
    for (const one of [...asked, ids, decode]) answers.push(await send(server, { ...one, key: keys.attacker }));
    answers.push(...(await Promise.all(Array.from({ length: 8 }, () => send(server, { ...asked[0], key: keys.attacker })))));
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1).length };
  },
};

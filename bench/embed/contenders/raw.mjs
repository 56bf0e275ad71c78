// onnxruntime-node by hand, on the calling thread: what a careful user would write, and nothing more.
import { createRequire } from "node:module";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { miniLm } from "../../measuring/shared-data.mjs";
import { miniLmTokenizer } from "../../measuring/tokenizer.mjs";

const files = { fp32: "model.onnx", int8: "model_quantized.onnx" };
const budget = 512; // padded tokens in a batch

export async function create(precision, threads) {
  const tokenizer = miniLmTokenizer();
  const session = await InferenceSession.create(join(miniLm, "onnx", files[precision]), {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
  });
  const encode = (text) => tokenizer.encode(text).ids;
  const embedOne = async (text) => (await run(session, [encode(text)]))[0];
  return {
    what: `onnxruntime-node ${createRequire(import.meta.url)("onnxruntime-node/package.json").version}, ${threads} threads`,
    embedOne,
    bulk: {
      "sorted, 512 tokens": (texts) => embedSorted(session, texts.map(encode)),
    },
    close: () => session.release(),
  };
}

async function embedSorted(session, rows) {
  const vectors = Array.from({ length: rows.length });
  for (const batch of cut(rows)) {
    const results = await run(
      session,
      batch.map((index) => rows[index]),
    );
    for (const [place, index] of batch.entries()) vectors[index] = results[place];
  }
  return vectors;
}

// Batches of indices, longest rows first, each of at most `budget` padded tokens.
function cut(rows) {
  const order = rows.map((_row, index) => index).toSorted((a, b) => rows[b].length - rows[a].length);
  const batches = [];
  while (order.length > 0) batches.push(order.splice(0, Math.max(1, Math.floor(budget / rows[order[0]].length))));
  return batches;
}

async function run(session, rows) {
  const length = Math.max(...rows.map((row) => row.length));
  const shape = [rows.length, length];
  const ids = new BigInt64Array(rows.length * length);
  const mask = new BigInt64Array(rows.length * length);
  for (const [row, values] of rows.entries()) {
    for (const [column, id] of values.entries()) {
      ids[row * length + column] = BigInt(id);
      mask[row * length + column] = 1n;
    }
  }
  const { last_hidden_state: hidden } = await session.run({
    input_ids: new Tensor("int64", ids, shape),
    attention_mask: new Tensor("int64", mask, shape),
    token_type_ids: new Tensor("int64", new BigInt64Array(ids.length), shape),
  });
  return rows.map((row, index) => unitMean(hidden.data, index * length, row.length, hidden.dims[2]));
}

function unitMean(data, firstRow, rows, dimensions) {
  const mean = new Float32Array(dimensions);
  for (let row = firstRow; row < firstRow + rows; row += 1) {
    for (let column = 0; column < dimensions; column += 1) mean[column] += data[row * dimensions + column];
  }
  let squares = 0;
  for (const value of mean) squares += value * value;
  const scale = 1 / Math.sqrt(squares);
  return mean.map((value) => value * scale);
}

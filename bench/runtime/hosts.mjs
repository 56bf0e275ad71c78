// What a host costs a run, and what is saved where an output is reduced in it: batches of 512 tokens through MiniLM, its token vectors, and the
// logits of a head over a vocabulary of 30,522 put on it. Run with `npm run bench:hosts`; `-- --quick` for a short one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as write from "../../test/fixtures/models/onnx-bytes.ts";
import { createRuntime } from "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const hosts = ["inline", "worker", "process"];
const [batch, tokens, dimensions, vocabulary] = [4, 128, 384, 30_522];
const { quick = false } = readOptions({ quick: { type: "boolean" } });
const [rounds, calls] = quick ? [1, 5] : [5, 10];

const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-hosts-"));
const withHead = join(folder, "model.onnx");
writeHead(withHead);
const lengths = Array(batch).fill(tokens);
const works = [
  { name: "token vectors, whole", model: miniLm, output: "last_hidden_state" },
  { name: "logits, whole", model: withHead, output: "logits" },
  { name: "logits, highest of each row", model: withHead, output: "logits", reduction: { kind: "highest", lengths } },
];

const load = watchLoad();
const times = new Map();
for (let round = 0; round < rounds; round += 1) {
  for (let turn = 0; turn < hosts.length; turn += 1) {
    const host = hosts[(turn + round) % hosts.length];
    const runtime = await createRuntime({ host, target: "onnx:cpu" });
    for (const { name, model, output, reduction } of works) {
      console.error(`round ${round + 1} of ${rounds}: ${host}, ${name}`);
      const handle = await runtime.load(model);
      const options = { outputs: [output], ...(reduction === undefined ? {} : { reductions: { [output]: reduction } }) };
      await handle.run(inputs(), options);
      const own = [];
      for (let call = 0; call < calls; call += 1) {
        const given = inputs();
        const started = performance.now();
        await handle.run(given, options);
        own.push(performance.now() - started);
      }
      times.set(`${name} ${host}`, [...(times.get(`${name} ${host}`) ?? []), median(own)]);
      await handle.dispose();
    }
    await runtime.dispose();
  }
}
rmSync(folder, { recursive: true });

console.log(`${describeMachine()}\n${describeLoad(load())}`);
console.log(`batches of ${batch} x ${tokens} tokens; medians of ${rounds} rounds of ${calls} calls, in milliseconds\n`);
const sizes = { last_hidden_state: batch * tokens * dimensions * 4, logits: batch * tokens * vocabulary * 4 };
const rows = works.map(({ name, output, reduction }) => {
  const bytes = reduction === undefined ? sizes[output] : batch * vocabulary * 4;
  return [name, `${(bytes / 1e6).toFixed(1)} MB`, ...hosts.map((host) => median(times.get(`${name} ${host}`)).toFixed(1))];
});
console.log(formatTable(["what comes back", "size", ...hosts], rows));

function inputs() {
  const whole = (value) => ({ dataType: "int64", shape: [batch, tokens], data: new BigInt64Array(batch * tokens).fill(value) });
  return { input_ids: whole(2003n), attention_mask: whole(1n), token_type_ids: whole(0n) };
}

// Protobuf puts a message that comes twice together, so a second graph adds to the first. What the weights are does not matter for time.
function writeHead(path) {
  const values = Float32Array.from(
    { length: dimensions * vocabulary },
    (_value, index) => ((index * 2_654_435_761) % 1000) / 1e4,
  );
  const shape = [dimensions, vocabulary].map((size) => write.integer(1, size));
  const bytes = Buffer.from(values.buffer);
  const weights = write.message(5, ...shape, write.integer(2, 1), write.message(8, "head"), write.message(9, bytes));
  const head = [
    write.node({ operator: "MatMul", inputs: ["last_hidden_state", "head"], outputs: ["logits"] }),
    weights,
    write.value(12, "logits", 1, ["batch_size", "sequence_length", vocabulary]),
  ];
  writeFileSync(path, Buffer.concat([readFileSync(join(miniLm, "onnx/model.onnx")), write.message(7, ...head)]));
}

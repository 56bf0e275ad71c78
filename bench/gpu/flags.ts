/**
 * Compilation and steady time of an encoder with other flags of XLA: the arguments are the plugin and the folder of a model (safetensors). Prints one line
 * for each set of flags and each shape.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Builder, TraceBudget } from "../../src/engine/index.ts";
import { emitGraph } from "../../src/engine/codegen/stablehlo/index.ts";
import { ModelFolding, runPasses } from "../../src/engine/compilation.ts";
import { withOpenGraph } from "../../src/backends/graphs/open-graph.ts";
import { openAnyClient } from "../../src/backends/xla/open-client.ts";
import type { CompilerFlags } from "../../src/backends/xla/pjrt/compile-options.ts";
import { isTensor } from "../../src/engine/index.ts";

const [, , plugin = "", folder = ""] = process.argv;
const isGpu = /cuda|rocm/.test(plugin);
const variants: readonly CompilerFlags[] = isGpu
  ? [
      { xla_gpu_autotune_level: 0 },
      { xla_gpu_autotune_level: 0, xla_gpu_enable_triton_gemm: false },
      { xla_gpu_autotune_level: 0, xla_gpu_enable_triton_gemm: false, xla_gpu_enable_cublaslt: true },
      { xla_gpu_autotune_level: 1 },
      { xla_gpu_autotune_level: 1, xla_gpu_enable_triton_gemm: false },
    ]
  : [{}];
const shapes = [
  [1, 16],
  [1, 128],
  [32, 128],
] as const;

const { client } = await openAnyClient(plugin);
const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as { architectures: string[] };
const path = join(folder, "model.safetensors");
const files = { path, format: "safetensors", architecture: config.architectures[0], config, bytes: 0 };
await withOpenGraph(files as never, {}, async ({ source, inputs }) => {
  const folding = new ModelFolding(source.weights);
  for (const flags of variants) {
    for (const [batch, tokens] of shapes) {
      const builder = new Builder({}, undefined, folding.fold);
      const named = inputs.map(({ name, dataType }) => ({ name, value: { type: { dataType, shape: [batch, tokens] } } }));
      const traced = source.trace(new Map(named.map(({ name, value }) => [name, value])), builder);
      const outputs = [...traced].flatMap(([name, value]) => (isTensor(value) ? [{ name, value }] : []));
      const graph = runPasses(builder.graph(named, outputs), { level: "all", fold: folding.fold, budget: new TraceBudget({}) });
      const program = emitGraph(graph);
      const types = { arguments: program.arguments.map(({ type }) => type), results: program.results.map(({ type }) => type) };
      const start = performance.now();
      const compiled = compileOrTell(program.text, types, flags);
      if (compiled === undefined) continue;
      const compileMs = performance.now() - start;
      const given = program.arguments.map((argument) => {
        if (argument.kind === "constant")
          return client.upload({ type: argument.type, data: argument.literal.data as Uint8Array });
        const isMask = argument.kind === "input" && argument.name === "attention_mask";
        const data = new BigInt64Array(batch * tokens).map((_, index) => (isMask ? 1n : BigInt(index % 2 === 0 ? 1 : 0)));
        return client.upload({ type: argument.type, data });
      });
      const times = [];
      for (let index = 0; index < 40; index += 1) {
        const begun = performance.now();
        const results = compiled.run(given);
        results[0]?.wait();
        times.push(performance.now() - begun);
        for (const each of results) each.dispose();
      }
      const median = times.slice(8).toSorted((one, other) => one - other)[16];
      process.stdout.write(
        `${JSON.stringify(flags)} ${batch}x${tokens}: compiled in ${Math.round(compileMs)} ms, ${median?.toFixed(3)} ms a run\n`,
      );
      for (const each of [...given, compiled]) each.dispose();
    }
  }
});
process.exit(0);

// Undefined where the plugin refuses the flags, which is printed.
function compileOrTell(text: string, types: Parameters<typeof client.compile>[1], flags: CompilerFlags) {
  try {
    return client.compile(text, types, flags);
  } catch (error) {
    process.stdout.write(`${JSON.stringify(flags)}: ${String(error)}\n`);
    return undefined;
  }
}

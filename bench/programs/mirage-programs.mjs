/** The seven programs of Mirage's benchmark (Wu et al., OSDI 2025, table 4) as functions of their sizes. Weights are matrices [inputs, outputs]. */
import { defineProgram } from "inferyard/program";

/** The sizes of the benchmark; tests use smaller ones. `rows` are tokens, for the batch that the name states. */
export const mirageSizes = {
  gatedMlp: { "batch 1": { rows: 8, width: 4096 } },
  rmsNormLinear: { "batch 1": { rows: 2, width: 4096 }, "batch 8": { rows: 16, width: 4096 } },
  lora: { "batch 1": { rows: 16, inputs: 256, outputs: 4096, rank: 16 } },
  groupedQueryAttention: {
    "batch 1": { groups: 2, queries: 256, width: 64, keys: 4096 },
    "batch 8": { groups: 16, queries: 256, width: 64, keys: 4096 },
  },
  normalizedAttention: {
    "batch 1": { groups: 2, queries: 256, width: 64, keys: 4096 },
    "batch 8": { groups: 16, queries: 256, width: 64, keys: 4096 },
  },
  nGptUpdate: { "batch 1": { rows: 8, width: 4096 }, "batch 8": { rows: 64, width: 4096 } },
  mixtureOfExperts: { "batch 1": { experts: 8, rows: 8, width: 4096 } },
};

const epsilon = 1e-5;

/** x / sqrt(mean(x^2) + epsilon) along an axis. */
function rmsNorm({ div, sqrt, add, reduceMean, mul }, x, axis) {
  return div(x, sqrt(add(reduceMean(mul(x, x), [axis], { keepdims: 1 }), epsilon)));
}

/** By name: the program for these sizes. */
export const miragePrograms = {
  /** silu(x gate) * (x up) */
  gatedMlp: ({ rows, width }) =>
    defineProgram(({ input, weight, matmul, silu, multiply }) => {
      const x = input("x", [rows, width]);
      return { y: multiply(silu(matmul(x, weight("gate", [width, width]))), matmul(x, weight("up", [width, width]))) };
    }),

  /** rmsNorm(x) w */
  rmsNormLinear: ({ rows, width }) =>
    defineProgram((build) => ({
      y: build.matmul(rmsNorm(build, build.input("x", [rows, width]), -1), build.weight("w", [width, width])),
    })),

  /** x w + x a b */
  lora: ({ rows, inputs, outputs, rank }) =>
    defineProgram(({ input, weight, matmul, add }) => {
      const x = input("x", [rows, inputs]);
      const adapted = matmul(matmul(x, weight("a", [inputs, rank])), weight("b", [rank, outputs]));
      return { y: add(matmul(x, weight("w", [inputs, outputs])), adapted) };
    }),

  /** softmax(q k) v for each group of heads that share keys and values */
  groupedQueryAttention: ({ groups, queries, width, keys }) =>
    defineProgram(({ input, matmul, softmax }) => {
      const [q, k, v] = [
        input("q", [groups, queries, width]),
        input("k", [groups, width, keys]),
        input("v", [groups, keys, width]),
      ];
      return { y: matmul(softmax(matmul(q, k), { axis: -1 }), v) };
    }),

  /** The same with queries and keys normalized along the width of a head. */
  normalizedAttention: ({ groups, queries, width, keys }) =>
    defineProgram((build) => {
      const [q, k, v] = [
        build.input("q", [groups, queries, width]),
        build.input("k", [groups, width, keys]),
        build.input("v", [groups, keys, width]),
      ];
      const scores = build.matmul(rmsNorm(build, q, -1), rmsNorm(build, k, 1));
      return { y: build.matmul(build.softmax(scores, { axis: -1 }), v) };
    }),

  /** norm(x + alpha * (norm(h) - x)), the update of the hidden state of nGPT (Loshchilov et al. 2024) */
  nGptUpdate: ({ rows, width }) =>
    defineProgram((build) => {
      const [x, h] = [build.input("x", [rows, width]), build.input("h", [rows, width])];
      const step = build.mul(build.weight("alpha", [width]), build.sub(rmsNorm(build, h, -1), x));
      return { y: rmsNorm(build, build.add(x, step), -1) };
    }),

  /** silu(x a) * (x b) for each expert */
  mixtureOfExperts: ({ experts, rows, width }) =>
    defineProgram(({ input, weight, matmul, silu, multiply }) => {
      const x = input("x", [experts, rows, width]);
      const [a, b] = [weight("a", [experts, width, width]), weight("b", [experts, width, width])];
      return { y: multiply(silu(matmul(x, a)), matmul(x, b)) };
    }),
};

/** Floating-point operations of the matrix products, and bytes that must be read or written at least once. */
export const mirageWork = {
  gatedMlp: ({ rows, width }) => ({ operations: 4 * rows * width ** 2, floats: 2 * width ** 2 + 2 * rows * width }),
  rmsNormLinear: ({ rows, width }) => ({ operations: 2 * rows * width ** 2, floats: width ** 2 + 2 * rows * width }),
  lora: ({ rows, inputs, outputs, rank }) => ({
    operations: 2 * rows * (inputs * outputs + rank * (inputs + outputs)),
    floats: inputs * outputs + rank * (inputs + outputs) + rows * (inputs + outputs),
  }),
  groupedQueryAttention: attentionWork,
  normalizedAttention: attentionWork,
  nGptUpdate: ({ rows, width }) => ({ operations: 12 * rows * width, floats: 3 * rows * width + width }),
  mixtureOfExperts: ({ experts, rows, width }) => ({
    operations: 4 * experts * rows * width ** 2,
    floats: 2 * experts * width ** 2 + 2 * experts * rows * width,
  }),
};

function attentionWork({ groups, queries, width, keys }) {
  return { operations: 4 * groups * queries * width * keys, floats: 2 * groups * width * (queries + keys) };
}

/** The elements of a tensor, the same as those of goldens.py: numbers from -0.5 to 0.5 that float32 rounds once. */
export function mirageTensor(length, seed) {
  return Float32Array.from({ length }, (_, index) => ((index * 7919 + seed * 104_729) % 1009) / 1009 - 0.5);
}

/** Tensors of a list of descriptions, by name; `first` is the seed of the first. */
export function mirageTensors(infos, first, scale = 1) {
  return Object.fromEntries(
    infos.map(({ name, shape }, index) => {
      const length = shape.reduce((product, size) => product * size, 1);
      const data = mirageTensor(length, first + index);
      return [name, scale === 1 ? data : data.map((value) => value * scale)];
    }),
  );
}

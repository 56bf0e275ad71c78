// The seven programs of Mirage's benchmark (Wu et al., OSDI 2025, table 4) as texts for the playground, at small sizes. Each is the function that defineProgram takes.
export const picks = {
  gatedMlp: `({ input, weight, matmul, silu, multiply }) => {
  const x = input("x", [3, 33]);
  const gate = matmul(x, weight("gate", [33, 33]));
  return { y: multiply(silu(gate), matmul(x, weight("up", [33, 33]))) };
}`,
  rmsNormLinear: `({ input, weight, matmul, mul, div, sqrt, add, reduceMean }) => {
  const x = input("x", [2, 35]);
  const norm = div(x, sqrt(add(reduceMean(mul(x, x), [-1], { keepdims: 1 }), 1e-5)));
  return { y: matmul(norm, weight("w", [35, 35])) };
}`,
  lora: `({ input, weight, matmul, add }) => {
  const x = input("x", [3, 18]);
  const adapted = matmul(matmul(x, weight("a", [18, 4])), weight("b", [4, 31]));
  return { y: add(matmul(x, weight("w", [18, 31])), adapted) };
}`,
  groupedQueryAttention: `({ input, matmul, softmax }) => {
  const q = input("q", [2, 5, 9]);
  const k = input("k", [2, 9, 17]);
  const v = input("v", [2, 17, 9]);
  return { y: matmul(softmax(matmul(q, k), { axis: -1 }), v) };
}`,
  normalizedAttention: `({ input, matmul, softmax, mul, div, sqrt, add, reduceMean }) => {
  const norm = (x, axis) => div(x, sqrt(add(reduceMean(mul(x, x), [axis], { keepdims: 1 }), 1e-5)));
  const q = input("q", [2, 5, 9]);
  const k = input("k", [2, 9, 17]);
  const v = input("v", [2, 17, 9]);
  return { y: matmul(softmax(matmul(norm(q, -1), norm(k, 1)), { axis: -1 }), v) };
}`,
  nGptUpdate: `({ input, weight, mul, sub, div, sqrt, add, reduceMean }) => {
  const norm = (x) => div(x, sqrt(add(reduceMean(mul(x, x), [-1], { keepdims: 1 }), 1e-5)));
  const x = input("x", [3, 37]);
  const h = input("h", [3, 37]);
  return { y: norm(add(x, mul(weight("alpha", [37]), sub(norm(h), x)))) };
}`,
  mixtureOfExperts: `({ input, weight, matmul, silu, multiply }) => {
  const x = input("x", [2, 3, 21]);
  const a = weight("a", [2, 21, 21]);
  const b = weight("b", [2, 21, 21]);
  return { y: multiply(silu(matmul(x, a)), matmul(x, b)) };
}`,
};

/** Check cases of elementwise chains: operands that broadcast, and steps that lowering translates to several steps of a kernel, or tells apart by type. */

const addAndMultiply = "{ binary($0, $1) function=add; binary($2, $0) function=mul }";

/** Chains with broadcast operands, of each width. */
const broadcasts = ["float32", "float64", "int64", "int32", "int16", "uint8"].flatMap((type) => {
  const start = `elementwise ${type.startsWith("float") ? "~" : "="} elementwise`;
  return [
    `${start}(${type}[3,1,7], ${type}[5,1]#2) ${addAndMultiply}`,
    `${start}(${type}[2,3,5], ${type}[3,1]#2) ${addAndMultiply}`,
    `${start}(${type}[2,1], ${type}[2,18]#2) ${addAndMultiply}`,
  ];
});

const numbers = "float32[7] = [-300, -1.5, 0, 0.25, 3, 200, 70000]";
const whole = "int32[7] = [-70000, -129, -1, 0, 1, 255, 65536]";
const narrow = ["int8", "uint8", "int16", "uint16"];

const chains = `
elementwise ~ elementwise(float32[], float32[]#2) ${addAndMultiply}
elementwise ~ elementwise(float32[3,3001], float32[3001]#2) ${addAndMultiply}
elementwise = elementwise(int64[9001], int64[9001]#2) ${addAndMultiply}
elementwise = elementwise(uint8[2,1,4100], uint8[2,3,1]#2) ${addAndMultiply}
elementwise ~ elementwise(${numbers}, float32[1] = [0.5]) { binary($0, $1) function=mul; cast($2) to=float16 saturate=false }
elementwise ~ elementwise(float16[3] = [-2, 0.5, 3]) { cast($0) to=float32 saturate=false; unary($1) function=softplus }
elementwise ~ elementwise(${whole}, int32[] = [12]) { binary($0, $1) function=bitwise-and }
elementwise = elementwise(${numbers}, constant float32[1] = [0.5]) { binary($0, $1) function=mul }
elementwise = elementwise(float32[2,2] = [1, 2, 3, 4], constant float32[2] = [5, -7]) { binary($0, $1) function=mul }
elementwise ~ elementwise(float32[3] = [Infinity, -Infinity, 1]) { unary($0) function=is-infinite }
elementwise ~ elementwise(float32[2] = [NaN, 1]) { unary($0) function=is-nan; unary($1) function=not }
elementwise = elementwise(int64[3] = [1, -2, 3], constant int64[] = [9007199254740993]) { binary($0, $1) function=mul }
declined elementwise ~ elementwise(${numbers}) { cast($0) to=float16 saturate=false; cast($1) to=float32 saturate=false }
declined elementwise ~ elementwise(${whole}) { cast($0) to=uint64 saturate=false; cast($1) to=int32 saturate=false }
declined elementwise ~ elementwise(int64[2] = [1, 2]) { cast($0) to=int32 saturate=true }
declined elementwise ~ elementwise(${whole}) { cast($0) to=uint32 saturate=true }
declined elementwise ~ elementwise(uint32[2] = [1, 300]) { cast($0) to=uint8 saturate=true }
declined elementwise ~ elementwise(bool[2] = [1, 0]) { cast($0) to=int8 saturate=true }
declined elementwise ~ elementwise(float16[2] = [1, 2], float16[2] = [3, 4]) { binary($0, $1) function=mul }`;

const ofNarrowTypes = narrow.flatMap((type) => [
  `elementwise ~ elementwise(${numbers}) { cast($0) to=${type} saturate=true }`,
  `elementwise ~ elementwise(${whole}) { cast($0) to=${type} saturate=true }`,
  `elementwise = elementwise(${type}[3] = [1, 2, 100], constant ${type}[] = [3]) { binary($0, $1) function=mul }`,
]);

/** All check cases of chains of elementwise operations. */
export const chainCases: string = [...broadcasts, chains, ...ofNarrowTypes].join("\n");

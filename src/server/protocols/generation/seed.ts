/** Seeds of random generators in requests. */

/** The seed that a request gives: undefined for -1, with which clients of llama.cpp, Ollama and vLLM ask for another text each time. Others count modulo 2^32. */
export function toSeed(seed: number | undefined): number | undefined {
  return seed === undefined || seed === -1 ? undefined : seed >>> 0;
}

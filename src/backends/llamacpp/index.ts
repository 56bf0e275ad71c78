/** The backend `llamacpp`: llama.cpp through node-llama-cpp, for GGUF models. */
export { llamacpp } from "./backend.ts";

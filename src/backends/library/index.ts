/** The backend `library`: a llama.cpp library of the user's own, for GGUF models. */
export { library, type LibraryOptions } from "./backend.ts";

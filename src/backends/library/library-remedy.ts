/** What to do where there is no library. In a file of its own, since every command imports it. */

/** How to make a library available. */
export const libraryRemedy = "set library (INFERYARD_LIBRARY) to the path of a libllama, or LLAMA_CPP_DIR to its folder";

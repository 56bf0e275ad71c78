/** Key of `Variant.config` with the name that a GGUF file gives its architecture, as in the file's own metadata. */
export const ggufArchitectureKey = "general.architecture";

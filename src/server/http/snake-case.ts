/** Names of fields in requests and responses, which are in snake case: "topK" is "top_k". */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How repetitive a text is. */

/** The number of UTF-8 bytes of a text divided by the number of its bytes in the zlib format. Above 2.4 a model has most likely repeated itself. */
export async function getCompressionRatio(text: string): Promise<number> {
  const bytes = new TextEncoder().encode(text);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return bytes.length / (await new Response(compressed).arrayBuffer()).byteLength;
}

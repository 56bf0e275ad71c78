/** Addresses of Redis servers. */

/** The URL without its password, to be recorded or shown. */
export function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return "the server";
  const parsed = new URL(url);
  parsed.password = "";
  return parsed.href;
}

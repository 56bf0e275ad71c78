/** Where what no bundle can hold is served from. */
import { InferyardError } from "../../errors.ts";
import { browserScope } from "./global-scope.ts";

/** The setting `assets` as an address that ends in "/". Left out: the bundle's folder, or the page's where the bundler hides that. */
export function assetsFolder(assets?: string): string {
  if (assets !== undefined) return addressOf("assets", assets.endsWith("/") ? assets : `${assets}/`).href;
  const bundle = import.meta.url;
  return new URL(".", /^https?:/.test(bundle) ? bundle : browserScope().location.href).href;
}

/** CONFIG_INVALID for a setting that is no address. */
export function addressOf(setting: string, address: string): URL {
  const page = browserScope().location.href;
  if (URL.canParse(address, page)) return new URL(address, page);
  throw new InferyardError("CONFIG_INVALID", `${setting} is "${address}", which is no address`, {
    remedy: 'give an address, for example "/assets/"',
  });
}

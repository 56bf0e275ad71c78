/** Formats of strings (JSON Schema 2020-12, validation, section 7.3) as regular expressions. Formats that are not here say nothing. */

const year = String.raw`\d{4}`;
const days = String.raw`(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`;
const leapYear = String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`;
const date = `(?:${year}-${days}|${leapYear}-02-29)`;
const time = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?`;
const zone = String.raw`(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const byte = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const ipv4 = String.raw`${byte}\.${byte}\.${byte}\.${byte}`;
const group = "[0-9A-Fa-f]{1,4}";
const lastGroups = `(?:${group}:${group}|${ipv4})`;
const ipv6 = [
  `(?:${group}:){6}${lastGroups}`,
  `::(?:${group}:){5}${lastGroups}`,
  `(?:${group})?::(?:${group}:){4}${lastGroups}`,
  `(?:(?:${group}:){0,1}${group})?::(?:${group}:){3}${lastGroups}`,
  `(?:(?:${group}:){0,2}${group})?::(?:${group}:){2}${lastGroups}`,
  `(?:(?:${group}:){0,3}${group})?::${group}:${lastGroups}`,
  `(?:(?:${group}:){0,4}${group})?::${lastGroups}`,
  `(?:(?:${group}:){0,5}${group})?::${group}`,
  `(?:(?:${group}:){0,6}${group})?::`,
].join("|");
const escaped = "%[0-9A-Fa-f]{2}";
const pathCharacter = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|${escaped})`;
const authority = String.raw`(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|${escaped})*@)?(?:\[(?:${ipv6})\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|${escaped})*)(?::\d*)?`;
const behindPath = String.raw`(?:\?(?:${pathCharacter}|[/?])*)?(?:#(?:${pathCharacter}|[/?])*)?`;
const uri = `[A-Za-z][A-Za-z0-9+.-]*:(?://${authority}(?:/${pathCharacter}*)*|/(?:${pathCharacter}+(?:/${pathCharacter}*)*)?|${pathCharacter}+(?:/${pathCharacter}*)*|)${behindPath}`;
const relative = `(?://${authority}(?:/${pathCharacter}*)*|/(?:${pathCharacter}+(?:/${pathCharacter}*)*)?|(?:[A-Za-z0-9._~!$&'()*+,;=@-]|${escaped})+(?:/${pathCharacter}*)*|)${behindPath}`;
const dateParts = String.raw`(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)`;
const timeParts = String.raw`T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`;

/** By name: a regular expression of the whole string. */
export const formats: ReadonlyMap<string, string> = new Map([
  ["date-time", `${date}[Tt]${time}${zone}`],
  ["date", date],
  ["time", `${time}${zone}`],
  ["duration", String.raw`P(?:${dateParts}(?:${timeParts})?|${timeParts}|\d+W)`],
  ["email", String.raw`${atom}(?:\.${atom})*@${label}(?:\.${label})*`],
  ["hostname", String.raw`${label}(?:\.${label})*`],
  ["ipv4", ipv4],
  ["ipv6", ipv6],
  ["uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"],
  ["uri", uri],
  ["uri-reference", `${uri}|${relative}`],
  ["json-pointer", "(?:/(?:[^~/]|~[01])*)*"],
]);

/** Dates in the notation of C's strftime, which chat templates use. */

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const two = (value: number): string => String(value).padStart(2, "0");

const codes: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => two(date.getFullYear() % 100),
  m: (date) => two(date.getMonth() + 1),
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  B: (date) => months[date.getMonth()] ?? "",
  b: (date) => months[date.getMonth()]?.slice(0, 3) ?? "",
  A: (date) => days[date.getDay()] ?? "",
  a: (date) => days[date.getDay()]?.slice(0, 3) ?? "",
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  p: (date) => (date.getHours() < 12 ? "AM" : "PM"),
  j: (date) =>
    String(Math.round((date.setHours(0, 0, 0, 0) - new Date(date.getFullYear(), 0, 1).getTime()) / 86_400_000) + 1).padStart(
      3,
      "0",
    ),
  "%": () => "%",
};

/** The date in local time, in English. "%-d" is the day without a zero before it. Unknown codes stay as they are. */
export function formatDate(format: string, date: Date): string {
  return format.replaceAll(/%(-?)([a-zA-Z%])/g, (written, short: string, code: string) => {
    const text = codes[code]?.(new Date(date));
    if (text === undefined) return written;
    return short === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

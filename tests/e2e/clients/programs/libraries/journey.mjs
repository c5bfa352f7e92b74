// What each program of a library does, by functions of its own.
export const [old] = process.argv.slice(2);
export const since = new Date(Date.now() - 3_600_000);

// Inserts an order and an item, finds orders by ID, list, time and item, and polls the feed. Prints their notes.
export async function journey({ insert, found, listed, later, joined, feed }) {
  const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
  const made = await insert();
  console.log("made", made);
  report("found", await found(made));
  report("listed", await listed([old, made]));
  if (later) report("since", await later());
  report("joined", await joined(made));
  const read = [];
  while (feed && read.at(-1)?.note !== "made") read.push(...(await feed(read.at(-1)?.id ?? old)));
  if (feed) report("feed", read);
}

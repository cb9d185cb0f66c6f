/** Delivers the rows of the outbox to a webhook: claims up to 100 rows, sends them at the same time, deletes them. At least once, as the
 *  engine does: a row is deleted after the webhook has answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

const BATCH = 100;
const PARALLEL = 25;
const POLL_MS = 1000;

type Row = { readonly id: number; readonly payload: string };

export async function deliverOutbox(
  pool: pg.Pool,
  send: (payload: string) => Promise<string>,
): Promise<never> {
  for (;;) {
    const { rows } = await pool.query<Row>({ name: 'claim', text: CLAIM, values: [BATCH] });
    for (let from = 0; from < rows.length; from += PARALLEL) {
      await Promise.all(rows.slice(from, from + PARALLEL).map(({ payload }) => send(payload)));
    }
    if (rows.length > 0) {
      await pool.query({ name: 'delivered', text: DELIVERED, values: [rows.map(({ id }) => id)] });
    }
    if (rows.length < BATCH) await sleep(POLL_MS);
  }
}

const CLAIM = `
update outbox set is_claimed = true
where id in (select id from outbox where not is_claimed order by id limit $1 for update skip locked)
returning id, payload`;
const DELIVERED = 'delete from outbox where id = any($1::int[])';

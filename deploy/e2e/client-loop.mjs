// A client that sends requests without a pause, in turn over a kept connection and a new one. Prints each failure, and totals every second.
const { URL: url, ADMIN_SECRET, QUERY, VARIABLES } = process.env;
let sent = 0;
let failed = 0;

async function request(isKept) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-engine-admin-secret': ADMIN_SECRET,
      ...JSON.parse(VARIABLES),
      ...(isKept ? {} : { connection: 'close' }),
    },
    body: JSON.stringify({ query: QUERY }),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.startsWith('{"data":{') || text.includes('"errors"'))
    throw new Error(`${response.status} ${text}`);
}

setInterval(() => console.log(JSON.stringify({ sent, failed })), 1000);
for (;;) {
  await request(sent % 2 === 0).catch((error) => {
    failed++;
    console.log(`failed at ${new Date().toISOString()}: ${error.message} ${error.cause ?? ''}`);
  });
  sent++;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

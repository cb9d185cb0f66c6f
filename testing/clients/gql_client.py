"""The Python client gql over HTTP and over both subprotocols of WebSockets. Prints its results as JSON."""

import asyncio
import json
import os

from gql import Client
from gql import gql as parse
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError
from gql.transport.websockets import WebsocketsTransport

URL = os.environ["ENGINE_URL"] + "/v1/graphql"
HEADERS = {"x-hasura-admin-secret": os.environ["ENGINE_SECRET"]}
LIVE = parse("subscription { book_by_pk(id: 1) { title } }")


def transport(subprotocol):
    return WebsocketsTransport(
        url=URL.replace("http", "ws", 1),
        init_payload={"headers": HEADERS},
        subprotocols=[subprotocol],
    )


async def first_live(subprotocol):
    async with Client(transport=transport(subprotocol)) as session:
        async for result in session.subscribe(LIVE):
            return result


async def main():
    http = AIOHTTPTransport(url=URL, headers=HEADERS)
    async with Client(transport=http, fetch_schema_from_transport=True) as session:
        query = await session.execute(parse("{ book(limit: 1, order_by: {id: asc}) { title } }"))
        added = await session.execute(
            parse('mutation { insert_book_one(object: {title: "by gql", author_id: 1}) { title } }')
        )
    async with Client(transport=AIOHTTPTransport(url=URL, headers=HEADERS)) as session:
        try:
            await session.execute(parse("{ book { nowhere } }"))
            error = None
        except TransportQueryError as caught:
            error = caught.errors
    print(
        json.dumps(
            {
                "query": query,
                "mutation": added["insert_book_one"]["title"],
                "error": error,
                "newer": await first_live("graphql-transport-ws"),
                "older": await first_live("graphql-ws"),
            }
        )
    )


asyncio.run(main())

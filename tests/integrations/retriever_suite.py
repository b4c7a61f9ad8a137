"""The standard tests of ``langchain-tests`` for retrievers, run in an environment that has the package, on a user with memories."""

import os
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from varve_client import VarveClient
from varve_integrations.langchain import VarveRetriever


class TestVarveRetriever(RetrieversIntegrationTests):  # type: ignore[misc]
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return VarveRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        client = VarveClient(os.environ["VARVE_CLIENT__URL"], api_key=os.environ["VARVE_CLIENT__API_KEY"])
        return {"client": client, "user": "rita"}

    @property
    def retriever_query_example(self) -> str:
        return "Where does Rita live?"

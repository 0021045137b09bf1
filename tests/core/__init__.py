import pytest

pytest.register_assert_rewrite("tests.core.variant_claims")

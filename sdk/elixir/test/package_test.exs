defmodule Dormouse.PackageTest do
  use ExUnit.Case, async: true

  test "the tables of calls are those of the OpenAPI document" do
    for {_id, {method, path}} <- Dormouse.Test.Cases.operations() do
      call = "#{method} #{path}"
      assert method != "GET" or Dormouse.Operations.read?(call), call
      refute Dormouse.Operations.read?(call) and Dormouse.Operations.idempotent?(call), call
    end
  end
end

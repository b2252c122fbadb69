defmodule Courier do
  @moduledoc """
  An agent in the style of Jido: its state is data, and a pure function computes the next state from
  what happened. The thread is what happened, and a checkpoint is the state at a rev of it.
  """

  @parcels ~w(apples bread cheese dates eggs figs grapes honey ink jam kale lemons)
  @id "courier-1"
  @ttl :timer.hours(1)

  defstruct rev: 0, delivered: [], seal: ""

  @doc "Delivers all parcels that are not delivered yet. After parcel `slow` it waits for a minute."
  def work(command, slow) do
    {agent, loaded} = thaw(command)
    deliver(agent, loaded, command, slow)
  end

  @doc "Applies an entry of the thread to the state. `seal` is a hash over all entries, in order."
  def apply_entry(agent, %{payload: %{parcel: parcel}}) do
    seal = Base.encode16(:crypto.hash(:sha256, agent.seal <> parcel), case: :lower)
    %{agent | rev: agent.rev + 1, delivered: [parcel | agent.delivered], seal: seal}
  end

  # The state is that of the checkpoint, and of the entries that came after it: the process before may
  # have been killed in between.
  defp thaw(command) do
    {thread, _} = loaded = Storage.load_thread(command, @id)
    agent = Storage.get_checkpoint(command, {Courier, @id}) || %Courier{}
    after_it = Enum.drop(thread.entries, agent.rev)
    Log.say("thaws: checkpoint at rev #{agent.rev}, thread at rev #{thread.rev}")

    for entry <- after_it do
      Log.say("   replays #{entry.payload.parcel}, which was delivered after the checkpoint")
    end

    {Enum.reduce(after_it, agent, &apply_entry(&2, &1)), loaded}
  end

  defp deliver(%{rev: rev} = agent, _loaded, command, _slow) when rev == length(@parcels) do
    Storage.put_checkpoint(command, {Courier, @id <> "/report"}, agent)
    Storage.delete_checkpoint(command, {Courier, @id})
    Log.say("has delivered everything: it keeps a report, and deletes its checkpoint")
  end

  defp deliver(agent, loaded, command, slow) do
    Process.sleep(250)
    parcel = Enum.at(@parcels, agent.rev)
    entry = %{kind: :delivered, payload: %{parcel: parcel, by: System.pid()}}

    case Storage.append_thread(command, @id, loaded, entry) do
      {:ok, {thread, _} = loaded} ->
        Log.say("delivers parcel #{thread.rev}: #{parcel}")

        if thread.rev == slow do
          Log.say("   … is slow to write its checkpoint")
          Process.sleep(:timer.minutes(1))
        end

        agent = apply_entry(agent, List.last(thread.entries))
        Storage.put_checkpoint(command, {Courier, @id}, agent, @ttl)
        deliver(agent, loaded, command, slow)

      {:error, :conflict} ->
        Log.say("is refused: another process has gone on. It stops")
        System.halt(3)
    end
  end

  @doc "Fails unless each parcel was delivered once and in order, and the report agrees."
  def check(command) do
    {thread, _} = Storage.load_thread(command, @id)
    delivered = for entry <- thread.entries, do: entry.payload.parcel
    if delivered != @parcels, do: raise("the thread has #{inspect(delivered)}")

    report = Storage.get_checkpoint(command, {Courier, @id <> "/report"})
    want = Enum.reduce(thread.entries, %Courier{}, &apply_entry(&2, &1))
    if report != want, do: raise("the report is #{inspect(report)}, want #{inspect(want)}")

    if left = Storage.get_checkpoint(command, {Courier, @id}) do
      raise("the checkpoint was not deleted: #{inspect(left)}")
    end

    processes = thread.entries |> Enum.map(& &1.payload.by) |> Enum.uniq() |> length()

    IO.puts(
      "The thread has each of the #{thread.rev} parcels once, delivered by #{processes} processes."
    )

    IO.puts("The report has the same state as a replay of the thread: seal #{report.seal}.")
  end
end

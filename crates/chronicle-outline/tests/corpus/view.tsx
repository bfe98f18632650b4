export interface Props { title: string }

/** Shows a title. */
export const Title: React.FC<Props> = ({ title }) => {
  const onClick = () => {};
  return <h1 onClick={onClick}>{title}</h1>;
};

export default class View extends React.Component<Props> {
  render() {
    return <Title title={this.props.title} />;
  }
}

function List<T,>({ items }: { items: T[] }) { return <ul>{items.map((i) => <li>{i}</li>)}</ul>; }
